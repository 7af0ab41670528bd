{# The only place that decides how this model reads, for all its sources at once. If it must read one source in full, it
   reads all of them in full. #}
{% macro read_state() %}
    {% set states = dbt.run_state('read_states') %}
    {% if model.unique_id not in states %}
        {% set how = dbt.decide_read_state() %}
        {% do states.update({model.unique_id: how}) %}
        {% if dbt.is_incremental() and how.state not in ('incremental', 'verify') %}
            {% do dbt.refuse_partial_sql(how.why) %}
        {% endif %}
        {% if how.state in dbt.states_to_rebuild() %}
            {% do log(dbt.table_name(this) ~ ' reads its sources whole: ' ~ how.why, info=True) %}
        {% endif %}
    {% endif %}
    {{ return(states[model.unique_id]) }}
{% endmacro %}

{# A model that calls is_incremental() itself was compiled to read only a part of its rows, so this run cannot rebuild it. #}
{% macro refuse_partial_sql(why) %}
    {% if 'is_incremental(' in model.raw_code %}
        {% do exceptions.raise_compiler_error(
            this.identifier ~ ' must read its sources whole (' ~ why ~ '), but its SQL calls is_incremental(). Rebuild it: '
            ~ '`dbt run --full-refresh --select ' ~ this.identifier ~ '`.'
        ) %}
    {% endif %}
{% endmacro %}

{% macro decide_read_state() %}
    {% if var('tidemark_purpose', '') == 'verify' %}
        {{ return({'state': 'verify', 'why': 'as consumed'}) }}
    {% elif adapter.reads_past() %}
        {{ return({'state': 'as of', 'why': 'as of a run'}) }}
    {% elif dbt.rebuilt_range() %}
        {% do dbt.refuse_rebuild() %}
        {{ return({'state': 'rebuild', 'why': 'rebuild of ' ~ dbt.rebuilt_range() | join(' to ')}) }}
    {% elif dbt.rebuilt_columns() %}
        {% do dbt.refuse_rebuild(with_new_code=true) %}
        {{ return({'state': 'rebuild', 'why': 'rebuild of ' ~ dbt.rebuilt_columns() | join(', ')}) }}
    {% elif should_full_refresh() %}
        {{ return({'state': 'full refresh', 'why': 'full refresh'}) }}
    {% elif not dbt.is_incremental() %}
        {{ return({'state': 'first run', 'why': 'first run: no table yet'}) }}
    {% endif %}
    {% if dbt.is_plain(model) %}
        {% set before = dbt.own_checkpoints() | map(attribute='contract') | first %}
        {% set redeclared = dbt.redeclared_state(before) if before else none %}
        {% if redeclared and redeclared.state != 'grain changed' and dbt.way_of(model).accumulates %}
            {{ return({'state': 'full', 'why': redeclared.why, 'changed': [], 'is_whole': true}) }}
        {% endif %}
        {{ return(redeclared or dbt.plain_read_state()) }}
    {% endif %}
    {% set own = [] %}
    {% for node in dbt.tables_below(model) %}
        {% set source = dbt.relation_of(node) %}
        {% set checkpoint = dbt.checkpoint(this, dbt.table_name(source)) %}
        {% if checkpoint and (checkpoint.version is none or dbt.has_versions(source)) %}
            {% do own.append(checkpoint) %}
            {% set lost = none if checkpoint.version is none else dbt.lost_join(source, checkpoint) if checkpoint.kind == 'joined'
                else dbt.lost_history(source, checkpoint, dbt.table_state(source), node.resource_type == 'source') %}
            {% if lost %}
                {{ return({'state': 'history lost', 'why': lost}) }}
            {% endif %}
        {% endif %}
    {% endfor %}
    {% if not own %}
        {{ return({'state': 'first run', 'why': 'first run: no checkpoint yet'}) }}
    {% endif %}
    {% set redeclared = dbt.redeclared_state(own[0].contract) %}
    {% if redeclared %}
        {{ return(redeclared) }}
    {% endif %}
    {% set lost = dbt.lost_table() %}
    {% if lost %}
        {{ return({'state': 'history lost', 'why': lost}) }}
    {% endif %}
    {{ return({'state': 'incremental', 'why': 'incremental'}) }}
{% endmacro %}

{# A range or some columns can only be rebuilt if each source is still available as the table was built from it: at a version that the source
   still has, or joined and unchanged. #}
{% macro refuse_rebuild(with_new_code=false) %}
    {% set why = namespace(message='it is not built yet' if not dbt.is_incremental() or not dbt.own_checkpoints() else none) %}
    {% if not why.message %}
        {% set before, now = dbt.newest_checkpoint().contract, dbt.contract_of(model.unique_id) %}
        {% if with_new_code and before.grain != now.grain %}
            {% set why.message = 'its keys have changed since its last run' %}
        {% elif not with_new_code and before != now %}
            {% set why.message = 'its contract or its keys have changed since its last run' %}
        {% endif %}
    {% endif %}
    {% for node in dbt.tables_below(model) if not why.message %}
        {% set source = dbt.relation_of(node) %}
        {% set checkpoint = dbt.checkpoint(this, dbt.table_name(source)) %}
        {% if checkpoint and checkpoint.version is not none %}
            {% set now = dbt.table_state(source) %}
            {% set lost = checkpoint.source_id != now.id or dbt.age_of(now, checkpoint.version) is none %}
            {% set why.message = dbt.lost_version(source, checkpoint) if dbt.is_plain(model) and source in dbt.own_relations()
                else dbt.lost_join(source, checkpoint) if checkpoint.kind == 'joined'
                else dbt.table_name(source) ~ ' no longer has version ' ~ checkpoint.version if lost else none %}
        {% endif %}
    {% endfor %}
    {% if why.message %}
        {% do exceptions.raise_compiler_error(
            this.identifier ~ ' cannot be rebuilt in part: ' ~ why.message ~ '. Run it: `dbt run --select ' ~ this.identifier ~ '`.'
        ) %}
    {% endif %}
{% endmacro %}
