{{ config(materialized='ephemeral', contract={'enforced': false}) }}

<% if feed.columns | selectattr("is_cast") | list %>
{# words for NULL among numbers, dates and times, in any letter case; in text they are values #}
{% set nulls = << nulls >> %}

<% endif %>
with source as (
    select * from {{ source('bronze', '<< feed.name >>') }}
),

typed as (
    select
        <% for column in feed.columns %>
        << column.sql ~ " as " ~ column.name if column.sql != column.name else column.name >>,
        <% if column.is_cast %>
        << column.name >> as << column.text_name >>,
        <% endif %>
        <% endfor %>
        _rescued_data,
        _corrupt_record,
        _source_file,
        _source_modified_at,
        _row_number,
        _batch_id,
        _ingested_at,
        to_json(struct(
            << feed.columns | map(attribute="name") | join(",\n            ") >>,
            _rescued_data
        )) as raw_record
    from source
),

checked as (
    select
        *,
        {{ rejection_reason([
            ('_corrupt_record is not null', 'the record cannot be read'),
            <% for rule in feed.rules %>
            << rule >>
            <% endfor %>
        ]) }} as rejection_reason
    from typed
)

select * from checked
