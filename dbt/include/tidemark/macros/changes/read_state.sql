{# The only place that decides how this model reads, for all its sources at once. If it must read one source in full, it
   reads all of them in full. #}
{% macro read_state() %}
    {% set states = dbt.run_state('read_states') %}
    {% if model.unique_id not in states %}
        {% set how = dbt.decide_read_state() %}
        {% do states.update({model.unique_id: how}) %}
        {% if is_incremental() and how.state not in ('incremental', 'verify') %}
            {% do dbt.refuse_partial_sql(how.why) %}
        {% endif %}
        {% if how.state in dbt.states_of_doubt() %}
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
    {% elif dbt.rebuilt_range() %}
        {% do dbt.refuse_rebuild() %}
        {{ return({'state': 'rebuild', 'why': 'rebuild of ' ~ dbt.rebuilt_range() | join(' to ')}) }}
    {% elif should_full_refresh() %}
        {{ return({'state': 'full refresh', 'why': 'full refresh'}) }}
    {% elif not is_incremental() %}
        {{ return({'state': 'first run', 'why': 'first run: no table yet'}) }}
    {% endif %}
    {% if dbt.is_plain(model) %}
        {% set before = dbt.own_marks() | map(attribute='contract') | first %}
        {{ return((dbt.redeclared_state(before) if before else none) or dbt.plain_read_state()) }}
    {% endif %}
    {% set marks = [] %}
    {% for node in dbt.tables_below(model) %}
        {% set source = dbt.relation_of(node) %}
        {% set mark = dbt.checkpoint(this, dbt.table_name(source)) %}
        {% if mark and (mark.version is none or dbt.has_versions(source)) %}
            {% do marks.append(mark) %}
            {% set lost = none if mark.version is none else dbt.lost_join(source, mark) if dbt.is_of_join(mark)
                else dbt.lost_history(source, mark, dbt.table_state(source), node.resource_type == 'source') %}
            {% if lost %}
                {{ return({'state': 'history lost', 'why': lost}) }}
            {% endif %}
        {% endif %}
    {% endfor %}
    {% if not marks %}
        {{ return({'state': 'first run', 'why': 'first run: no checkpoint yet'}) }}
    {% endif %}
    {% set redeclared = dbt.redeclared_state(marks[0].contract) %}
    {% if redeclared %}
        {{ return(redeclared) }}
    {% endif %}
    {% set lost = dbt.lost_table() %}
    {% if lost %}
        {{ return({'state': 'history lost', 'why': lost}) }}
    {% endif %}
    {{ return({'state': 'incremental', 'why': 'incremental'}) }}
{% endmacro %}

{# The state of a model whose contract, grain or code changed since its last run, so that its table is rebuilt; or none. #}
{% macro redeclared_state(before) %}
    {% set contract = dbt.contract_of(model.unique_id) %}
    {% if before == contract %}
        {{ return(none) }}
    {% endif %}
    {% set added = dbt.added_columns(this) %}
    {% if added %}
        {{ return({'state': 'columns added', 'why': 'new in its contract: ' ~ added | join(', ')}) }}
    {% elif '.' in (before or '') and before.split('.')[1] != contract.split('.')[1] %}
        {{ return({'state': 'grain changed', 'why': 'another unique_key, newest_by, insert_only or prune_by'}) }}
    {% endif %}
    {% set changed = dbt.changed_code(before, contract) %}
    {% set choice = dbt.on_code_change(changed) if changed else 'ignore' %}
    {% if choice != 'ignore' %}
        {{ return({'state': 'code changed', 'why': changed ~ (', where the run stops' if choice == 'stop' else '')}) }}
    {% endif %}
    {{ return(none) }}
{% endmacro %}

{# What to do if the model's code has changed: rebuild, ignore or stop. This macro itself stops the model. #}
{% macro on_code_change(changed) %}
    {% set choice = config.get('meta', {}).get('on_code_change', 'rebuild') %}
    {% if choice not in ('rebuild', 'stop', 'ignore') %}
        {% do exceptions.raise_compiler_error(
            this.identifier ~ ': on_code_change is ' ~ choice ~ '. Set it to rebuild, stop or ignore.'
        ) %}
    {% elif choice == 'stop' and var('tidemark_purpose', '') != 'explain' %}
        {% do exceptions.raise_compiler_error(
            this.identifier ~ ': ' ~ changed ~ ' since the table was built, so old and new rows would be mixed '
            ~ '(on_code_change: stop). Rebuild it: `dbt run --full-refresh --select ' ~ this.identifier ~ '`.'
        ) %}
    {% endif %}
    {{ return(choice) }}
{% endmacro %}

{# What a model reads, directly and through views. #}
{% macro tables_below(node) %}
    {% set found = [] %}
    {% for below in dbt.dependencies(node) %}
        {% do found.append(below) %}
        {% if dbt.is_view(below) %}
            {% do found.extend(dbt.tables_below(below)) %}
        {% endif %}
    {% endfor %}
    {{ return(found) }}
{% endmacro %}

{% macro is_view(node) %}
    {{ return(node.resource_type == 'model' and node.config.materialized in ('view', 'ephemeral')) }}
{% endmacro %}

{% macro dependencies(node) %}
    {% set found = [] %}
    {% for unique_id in node.depends_on.nodes if unique_id.split('.')[0] in ('source', 'model', 'seed', 'snapshot') %}
        {% do found.append(graph.sources.get(unique_id) or graph.nodes.get(unique_id)) %}
    {% endfor %}
    {{ return(found) }}
{% endmacro %}

{# A range can only be rebuilt if each source is still available as the table was built from it: at a version that the source
   still has, or joined and unchanged. #}
{% macro refuse_rebuild() %}
    {% set why = namespace(said='it is not built yet' if not is_incremental() or not dbt.own_marks() else none) %}
    {% if not why.said and dbt.newest_mark().contract != dbt.contract_of(model.unique_id) %}
        {% set why.said = 'its contract or its keys have changed since its last run' %}
    {% endif %}
    {% for node in dbt.tables_below(model) if not why.said %}
        {% set source = dbt.relation_of(node) %}
        {% set mark = dbt.checkpoint(this, dbt.table_name(source)) %}
        {% if mark and mark.version is not none %}
            {% set now = dbt.table_state(source) %}
            {% set lost = mark.source_id != now.id or dbt.age_of(now, mark.version) is none %}
            {% set why.said = dbt.lost_join(source, mark) if dbt.is_of_join(mark)
                else dbt.table_name(source) ~ ' no longer has version ' ~ mark.version if lost else none %}
        {% endif %}
    {% endfor %}
    {% if why.said %}
        {% do exceptions.raise_compiler_error(
            this.identifier ~ ' cannot be rebuilt for some dates: ' ~ why.said ~ '. Run it: `dbt run --select ' ~ this.identifier ~ '`.'
        ) %}
    {% endif %}
{% endmacro %}
