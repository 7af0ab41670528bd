{# A sum of no values is 0 here, because folding gives 0. #}
{% macro aggregate_of(measure, expression) %}
    {% set aggregate = measure.function ~ '(' ~ expression ~ ')' %}
    {{ return('coalesce(' ~ aggregate ~ ', 0)' if measure.function == 'sum' else aggregate) }}
{% endmacro %}

{# True for the inside of one aggregate; false for the inside of `sum(a) + sum(b)` and for `distinct a`. #}
{% macro is_one_expression(text) %}
    {% set open = namespace(parentheses=0) %}
    {% for character in text %}
        {% set open.parentheses = open.parentheses + {'(': 1, ')': -1}.get(character, 0) %}
        {% if open.parentheses < 0 %}
            {{ return(false) }}
        {% endif %}
    {% endfor %}
    {{ return(not (text | trim | lower).startswith('distinct ')) }}
{% endmacro %}

{# `sum(quantity)` as {name, function, expression}. One measure must count rows, to detect a key that has none left. #}
{% macro parsed_measures(measures) %}
    {% set parsed = [] %}
    {% for name, aggregate in measures.items() %}
        {% set match = modules.re.match('^(count|sum|min|max)[(](.*)[)]$', aggregate | trim) %}
        {% if not match or not dbt.is_one_expression(match.group(2)) %}
            {% do exceptions.raise_compiler_error(
                this.identifier ~ ': folded() cannot fold `' ~ aggregate ~ '`. It folds count, sum, min and max of an expression.'
            ) %}
        {% endif %}
        {% do parsed.append({
            'name': name, 'function': match.group(1), 'expression': match.group(2) | trim,
            'counts_rows': aggregate | replace(' ', '') == 'count(*)'
        }) %}
    {% endfor %}
    {% if not parsed | selectattr('counts_rows') | list %}
        {% do exceptions.raise_compiler_error(this.identifier ~ ': folded() needs a measure `count(*)`, to know when a key has no rows left.') %}
    {% endif %}
    {{ return(parsed) }}
{% endmacro %}
