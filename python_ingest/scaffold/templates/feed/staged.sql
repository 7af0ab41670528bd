{% macro staged_<< feed.name >>(landed) %}
    with typed as (
        select
            <% for column in feed.columns %>
            <% if column.sql == column.name %>
            << column.name >>,
            <% else %>
            << column.sql >> as << column.name >>,
            <% endif %>
            <% if column.is_cast and not column.is_required %>
            << column.name >> as << column.name >>_text,
            <% endif %>
            <% endfor %>
            to_json(struct(<< feed.columns | map(attribute='name') | join(', ') >>)) as raw_record,
            _corrupt_record, _source_file, _source_modified_at, _row_number, _batch_id, _ingested_at
        from {{ landed }}
    )

    select
        *,
        {{ rejection_reason([
            ('_corrupt_record is not null', 'the record cannot be read'),
            <% for column in feed.columns if column.is_required or column in feed.key %>
            <% if column.is_cast %>
            ('<< column.name >> is null', '<< column.name >> is not << column.words >>'),
            <% else %>
            ('<< column.name >> is null', '<< column.name >> is missing'),
            <% endif %>
            <% endfor %>
            <% for column in feed.columns if column.is_cast and not column.is_required and column not in feed.key %>
            ("<< column.broken >>", '<< column.name >> is not << column.words >>'),
            <% endfor %>
        ]) }} as rejection_reason
    from typed
{% endmacro %}
