{{ config(unique_key='week_start_date') }}

with daily_sales as (
    select * from {{ ref('daily_sales') }}
),

dates as (
    select * from {{ ref('dates') }}
),

weekly as (
    select
        dates.week_start_date,
        dates.iso_year,
        dates.iso_week,
        count(*) as days_with_sales,
        sum(daily_sales.transaction_count) as transaction_count,
        sum(daily_sales.quantity) as quantity,
        sum(daily_sales.amount) as amount,
        coalesce(sum(daily_sales.amount) filter (where dates.is_weekend), 0) as weekend_amount,
        coalesce(sum(daily_sales.amount) filter (where dates.is_holiday), 0) as holiday_amount
    from daily_sales
    inner join dates
        on daily_sales.sales_date = dates.calendar_date
    group by dates.week_start_date, dates.iso_year, dates.iso_week
)

select * from weekly
