{# A node's code, read once per command: tidemark/engine/project/model_code.py. #}
{% macro code_of(unique_id) %}
    {% set known = dbt.run_state('code') %}
    {% if unique_id not in known %}
        {% do known.update({unique_id: adapter.code_of(unique_id)}) %}
    {% endif %}
    {{ return(known[unique_id]) }}
{% endmacro %}

{# Fingerprints of the SQL, of the macros that it uses, and of the variables that these read, separated by dashes. #}
{% macro code_fingerprint(unique_id) %}
    {% set code = dbt.code_of(unique_id) %}
    {% set values = [] %}
    {% for name in code.variables %}
        {% do values.append(var(name, none)) %}
    {% endfor %}
    {% for name in code.environment %}
        {% do values.append(env_var(name, '')) %}
    {% endfor %}
    {{ return(code.sql ~ '-' ~ code.macros ~ '-' ~ local_md5(values | string)[:12]) }}
{% endmacro %}

{# The part of a model's code that changed since its last run, as text, or none. Checkpoints of earlier Tidemark versions do not say. #}
{% macro changed_code(before, now) %}
    {% set parts = ((before or '').split('.') + ['', ''])[2] %}
    {% if parts %}
        {% set was, is = parts.split('-'), now.split('.')[2].split('-') %}
        {% set names = ['its SQL', 'a macro that it uses', 'a variable that it reads'] %}
        {% for number in range(3) if was[number] != is[number] %}
            {{ return(names[number] ~ ' has changed') }}
        {% endfor %}
    {% endif %}
    {{ return(none) }}
{% endmacro %}
