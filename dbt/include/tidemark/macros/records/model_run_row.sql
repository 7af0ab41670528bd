{% macro tidemark__model_run_row(result, state) %}
    {% set node = result.node %}
    {% set relation = dbt.tidemark__relation_of(node) %}
    {% set wrote = dbt.tidemark__run_state('written').get(node.unique_id, {}) %}
    {% set row = {
        'model': dbt.tidemark__table_name(relation), 'status': result.status | string, 'state': state,
        'reads': [], 'rows_read': 0, 'bytes_read': 0, 'files_read': 0, 'seconds': result.execution_time,
        'rows_rejected': dbt.tidemark__rejected_rows(node), 'table_version': wrote.get('version'),
        'message': (result.message | string)[:500] if result.status == 'error' else none
    } %}
    {% for outcome in ('inserted', 'updated', 'deleted', 'unchanged', 'superseded') %}
        {% do row.update({'rows_' ~ outcome: wrote.get(outcome, 0) if wrote else none}) %}
    {% endfor %}
    {% set windows = dbt.tidemark__windows_of(node.unique_id) if dbt.tidemark__is_plain(node)
        else dbt.tidemark__run_state('windows').get(node.unique_id, {}).values() %}
    {% for window in windows %}
        {% do row['reads'].append(window.source ~ ' ' ~ window.message) %}
        {% set metrics = dbt.tidemark__read_metrics(dbt.tidemark__relation_named(window.source), window) if result.status == 'success' else {} %}
        {% for name in ('rows', 'bytes', 'files') %}
            {% set before, more = row[name ~ '_read'], metrics.get(name, 0) %}
            {% do row.update({name ~ '_read': none if before is none or more is none else before + more}) %}
        {% endfor %}
    {% endfor %}
    {% if wrote.get('sql') %}
        {% do row.update(rows_superseded=dbt.tidemark__superseded_in_full_read(row, wrote)) %}
    {% endif %}
    {% set commit = wrote.get('commit') %}
    {% do row.update(bytes_written=commit.bytes if commit else 0, files_written=commit.files if commit else 0) %}
    {{ return(row) }}
{% endmacro %}

{# A table that is written in full has no outcome for each landed row. The superseded rows are the versions that its SQL
   counts minus the newest versions. If no row_balance test counted the versions, the rows read are used instead. #}
{% macro tidemark__superseded_in_full_read(row, wrote) %}
    {% set versions = wrote.get('versions') %}
    {% if versions is none and row.rows_read is not none %}
        {% set versions = row.rows_read - (row.rows_rejected or 0) %}
    {% endif %}
    {{ return(versions - row.rows_inserted if versions is not none else none) }}
{% endmacro %}

{# The number of rows that the model `rejected_<name>` rejected in this command, for the model `<name>` with the same source. #}
{% macro tidemark__rejected_rows(node) %}
    {% for other in graph.nodes.values() if other.resource_type == 'model' and other.alias == 'rejected_' ~ node.alias and other.schema == node.schema %}
        {{ return(dbt.tidemark__accounted_rows(other.unique_id)) }}
    {% endfor %}
    {{ return(none) }}
{% endmacro %}
