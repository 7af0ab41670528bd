{{ config(unique_key='week_start_date') }}

with touched_days as (
    select * from {{ touched_keys(ref('daily_sales'), 'sales_date') }}
),

daily_sales as (
    select * from {{ pinned(ref('daily_sales')) }}
),

-- a plain join: if the calendar changes, all weeks are rebuilt
dates as (
    select * from {{ ref('dates') }}
),

touched_weeks as (
    select dates.week_start_date
    from touched_days
    inner join dates
        on touched_days.sales_date = dates.calendar_date
    group by dates.week_start_date
),

weekly as (
    select
        dates.week_start_date,
        dates.iso_year,
        dates.iso_week,
        count(daily_sales.sales_date) as days_with_sales,
        sum(daily_sales.transaction_count) as transaction_count,
        sum(daily_sales.quantity) as quantity,
        sum(daily_sales.amount) as amount,
        coalesce(sum(daily_sales.amount) filter (where dates.is_weekend), 0) as weekend_amount,
        coalesce(sum(daily_sales.amount) filter (where dates.is_holiday), 0) as holiday_amount,
        count(daily_sales.sales_date) = 0 as _is_deleted
    from touched_weeks
    inner join dates
        on touched_weeks.week_start_date = dates.week_start_date
    left join daily_sales
        on dates.calendar_date = daily_sales.sales_date
    group by dates.week_start_date, dates.iso_year, dates.iso_week
)

select * from weekly
