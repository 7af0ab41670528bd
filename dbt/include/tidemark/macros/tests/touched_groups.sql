{# All rows of the keys that a table's changes touch since the test last passed, including keys that rows left. For tests of
   a rule between the rows of a key: an added, deleted or moved row may break it for the other rows. #}
{% macro touched_groups(relation, columns) %}
    {% set window = dbt.tidemark__tested_window(relation) if execute and dbt.tidemark__has_versions(relation) else {'state': 'whole'} %}
    {% set present = dbt.tidemark__as_of(relation, window.last) if window.last is defined else relation %}
    {% if window.state == 'whole' %}
        {{ return('(select * from ' ~ present ~ ')') }}
    {% endif %}
    {% set keys = dbt.tidemark__as_list(columns) %}
    {% set few = window.state == 'nothing new' or dbt.tidemark__read_metrics(relation, window).rows < 100000 %}
    {{ return(
        '(select ' ~ ('/*+ broadcast(touched) */ ' if few else '') ~ 'present.* from (select * from ' ~ present ~ ') as present left semi join '
        ~ dbt.tidemark__change_rows(relation, window) ~ ' as touched on ' ~ dbt.tidemark__null_safe_equal('present', 'touched', keys) ~ ')'
    ) }}
{% endmacro %}
