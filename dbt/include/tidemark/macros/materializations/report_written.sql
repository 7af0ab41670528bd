{# What the model wrote: for dbt's output and the node's adapter_response, and kept for ops.model_runs. `counts` holds the
   number of rows by outcome (`written` where the outcome is not known), and `commit` if there was one. #}
{% macro tidemark__report_written(counts) %}
    {% set words = [] %}
    {% for word in ('inserted', 'updated', 'deleted', 'written') if counts.get(word) %}
        {% do words.append('{:,} '.format(counts[word]) ~ word) %}
    {% endfor %}
    {% set why_unproven = dbt.tidemark__way_of(model).why_unproven if model.resource_type == 'model' else '' %}
    {% set unproven = '; not proven: ' ~ why_unproven if why_unproven else '' %}
    {% set note = dbt.tidemark__run_state('column_notes').get(model.unique_id) %}
    {% set part = '; a part of the rows: --sample' if dbt.tidemark__is_limited() and not flags.EMPTY and model.resource_type == 'model' else '' %}
    {% set unproven = unproven ~ ('; ' ~ note if note else '') ~ part %}
    {% set total = counts.get('inserted', 0) + counts.get('updated', 0) + counts.get('deleted', 0) + counts.get('written', 0) %}
    {% set how = dbt.tidemark__run_state('read_states').get(model.unique_id, {}) %}
    {% set why = '; read whole: ' ~ how.why if how.rebuilds else '; in full: ' ~ how.why if how.state == 'full' else '' %}
    {% do store_raw_result(
        'main', message=(words | join(', ') or 'no change') ~ why ~ unproven, code='WROTE' if total else 'UNCHANGED', rows_affected=total
    ) %}
    {% set commit = counts.get('commit') %}
    {% do dbt.tidemark__run_state('written').update({model.unique_id: dict(counts, version=commit.version if commit else none)}) %}
{% endmacro %}
