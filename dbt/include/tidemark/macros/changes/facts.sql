{# What decides how this model reads, gathered once: tidemark/engine/decision/facts.py. #}
{% macro tidemark__facts() %}
    {% set known = dbt.tidemark__run_state('facts') %}
    {% if model.unique_id not in known %}
        {% set own, sources = dbt.tidemark__own_relations(), [] %}
        {% for node in dbt.tidemark__tables_below(model) %}
            {% set relation = dbt.tidemark__relation_of(node) %}
            {% do sources.append({
                'relation': relation, 'has_versions': dbt.tidemark__has_versions(relation), 'is_view': dbt.tidemark__is_view(node),
                'is_landed': node.resource_type == 'source', 'is_named': relation in own
            }) %}
        {% endfor %}
        {% set is_node = model.unique_id in graph.nodes %}  {# not `dbt show --inline` #}
        {% set adds_columns = config.get('contract').enforced and config.get('on_schema_change') == 'append_new_columns' %}
        {% do known.update({model.unique_id: adapter.facts_of(this, sources, dbt.tidemark__checkpoints(), dbt.tidemark__command(), {
            'way': dbt.tidemark__way_of(model) if is_node else none, 'is_built': dbt.is_incremental(), 'has_table': dbt.tidemark__has_versions(this),
            'contract': dbt.tidemark__contract_of(model.unique_id) if is_node else none,
            'has_hooks': (model.config.get('pre-hook') or model.config.get('post-hook')) != [],
            'calls_incremental': 'is_incremental(' in model.raw_code, 'meta': config.get('meta', {}),
            'declared': model.columns.keys() | list if adds_columns else []
        })}) %}
    {% endif %}
    {{ return(known[model.unique_id]) }}
{% endmacro %}

{# Called after a table was replaced or altered: its state is read again. #}
{% macro tidemark__forget_table(relation) %}
    {% do adapter.forget_table(relation) %}
    {% do dbt.tidemark__run_state('facts').pop(model.unique_id, none) %}
{% endmacro %}

{# Whether `tidemark verify --repair` asks for this model. #}
{% macro tidemark__is_repaired() %}
    {{ return(dbt.tidemark__table_name(this) in var('tidemark_repaired', [])) }}
{% endmacro %}

{# What the command asks of this model. #}
{% macro tidemark__command() %}
    {% set known, purpose = dbt.tidemark__run_state('commands'), var('tidemark_purpose', '') %}
    {% if model.unique_id not in known %}
        {% do known.update({model.unique_id: adapter.decide().facts.Command(
            verifies=purpose == 'verify', explains=purpose == 'explain', reads_past=adapter.reads_past(),
            full_refresh=should_full_refresh(), repairs=dbt.tidemark__is_repaired(), dates=(dbt.tidemark__rebuilt_range() or []) | map('string') | list,
            columns=dbt.tidemark__rebuilt_columns() or [],
            is_limited=dbt.tidemark__is_limited()
        )}) %}
    {% endif %}
    {{ return(known[model.unique_id]) }}
{% endmacro %}
