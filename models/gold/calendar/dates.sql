{{ config(unique_key='calendar_date') }}

with holidays as (
    select * from {{ ref('holidays') }}
),

-- the calendar has the years of the seed's holidays
years as (
    select year(holiday_date) as calendar_year
    from holidays
    group by year(holiday_date)
),

days as (
    select
        calendar_year,
        explode(sequence(make_date(calendar_year, 1, 1), make_date(calendar_year, 12, 31))) as calendar_date
    from years
),

described as (
    select
        days.calendar_date,
        days.calendar_year,
        quarter(days.calendar_date) as quarter_of_year,
        month(days.calendar_date) as month_of_year,
        date_part('yearofweek', days.calendar_date) as iso_year,
        weekofyear(days.calendar_date) as iso_week,
        cast(date_trunc('week', days.calendar_date) as date) as week_start_date,
        weekday(days.calendar_date) + 1 as day_of_week,
        date_format(days.calendar_date, 'EEEE') as day_name,
        weekday(days.calendar_date) >= 5 as is_weekend,
        holidays.holiday_name is not null as is_holiday,
        holidays.holiday_name
    from days
    left join holidays
        on days.calendar_date = holidays.holiday_date
)

select * from described
