{# A node's code, read once per command: tidemark/engine/project/model_code.py. #}
{% macro tidemark__code_of(unique_id) %}
    {% set known = dbt.tidemark__run_state('code') %}
    {% if unique_id not in known %}
        {% do known.update({unique_id: adapter.code_of(unique_id)}) %}
    {% endif %}
    {{ return(known[unique_id]) }}
{% endmacro %}

{# The fingerprint of the variables that a node's code reads. #}
{% macro tidemark__variables_fingerprint(code) %}
    {% set values = [] %}
    {% for name in code.variables %}
        {% do values.append(var(name, none)) %}
    {% endfor %}
    {% for name in code.environment %}
        {% do values.append(env_var(name, '')) %}
    {% endfor %}
    {{ return(local_md5(values | string)[:12]) }}
{% endmacro %}
