"""Which aggregates depend on the order of rows, and by how much rounding can move those that add.

Floating-point addition rounds, so a sum depends on the order in which Spark adds, and that depends on files
and partitions. For n numbers in any order, the error of a sum is at most (n - 1) u sum(|x|), with u = 2^-53
(Higham, Accuracy and Stability of Numerical Algorithms, 4.2). Both sides of a comparison have such an error.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

UNIT = "1.1102230246251565E-16D"  # 2^-53
EXACT = "9007199254740992D"  # 2^53: below it, whole numbers are added exactly as doubles


@dataclass(frozen=True)
class Aggregated:
    """An aggregate or window function where a query calls it.

    Attributes:
        over: gives the SQL of another aggregate over the same rows: with its filter and its window.
        value: its own SQL.
        written: the SQL of its arguments.
    """

    over: Callable[[str], str]
    value: str
    written: tuple[str, ...]

    @property
    def arguments(self) -> tuple[str, ...]:
        """The SQL of its arguments as doubles."""
        return tuple(f"cast({one} as double)" for one in self.written)

    def mean_square(self, number: int) -> str:
        """Return the SQL of the root of the mean square of an argument."""
        x = self.arguments[number]
        return f"sqrt({self.over(f'avg({x} * {x})')})"

    def errors(self, factor: int) -> str:
        """Return the SQL of the relative error of so many roundings for each row, on both sides."""
        return f"{2 * factor}D * {UNIT} * ({self.over(f'count({self.arguments[0]})')} + 8)"


def _sum(one: Aggregated) -> str:
    (x,) = one.arguments[:1]
    bound = f"{one.errors(1)} * {one.over(f'sum(abs({x}))')}"
    return f"if(typeof({one.value}) = 'double', {bound}, 0D)"


def _mean(one: Aggregated) -> str:
    (x,) = one.arguments[:1]
    bound = f"{one.errors(1)} * {one.over(f'avg(abs({x}))')}"
    # Spark adds whole numbers as doubles, too
    is_exact = (
        f"typeof({one.over(f'sum({one.written[0]})')}) <> 'double' and {one.over(f'sum(abs({x}))')} < {EXACT}"
    )
    return f"if(typeof({one.value}) <> 'double' or ({is_exact}), 0D, {bound})"


def _deviation(one: Aggregated) -> str:
    return f"{one.errors(4)} * {one.mean_square(0)}"


def _variance(one: Aggregated) -> str:
    deviation = _deviation(one)
    return f"(2D * sqrt(abs({one.value})) + {deviation}) * {deviation}"


def _covariance(one: Aggregated) -> str:
    return f"{one.errors(4)} * {one.mean_square(0)} * {one.mean_square(1)}"


def _correlation(one: Aggregated) -> str:
    spreads = " * ".join(one.over(f"stddev_pop({x})") for x in one.arguments[:2])
    return f"{one.errors(8)} * {one.mean_square(0)} * {one.mean_square(1)} / nullif({spreads}, 0D)"


def _moment(power: int) -> Callable[[Aggregated], str]:
    def bound(one: Aggregated) -> str:
        spread = one.over(f"stddev_pop({one.arguments[0]})")
        ratio = f"{one.mean_square(0)} / nullif({spread}, 0D)"
        return f"{one.errors(16)} * (1D + abs({one.value})) * power({ratio}, {power})"

    return bound


Bound = Callable[[Aggregated], str]
# aggregates that add floating-point numbers, with the bound of what rounding does to their result
ROUNDED: dict[str, Bound] = {
    **dict.fromkeys(("sum", "try_sum"), _sum),
    **dict.fromkeys(("avg", "mean", "try_avg"), _mean),
    **dict.fromkeys(("stddev", "std", "stddev_samp", "stddev_pop"), _deviation),
    **dict.fromkeys(("variance", "var_samp", "var_pop"), _variance),
    **dict.fromkeys(("covar_pop", "covar_samp"), _covariance),
    "corr": _correlation,
    "skewness": _moment(3),
    "kurtosis": _moment(4),
}
# sketches of which the values depend on the order of rows, or on a random choice
SKETCHES_OF_ORDER = (
    *("approx_top_k", "approx_top_k_accumulate", "approx_top_k_combine"),
    *(f"kll_{kind}_agg_{of}" for kind in ("sketch", "merge") for of in ("bigint", "double", "float")),
)
# the result depends on the order of rows without a bound: any difference counts as real
ORDERED = frozenset({
    *("collect_list", "collect_set", "array_agg", "listagg", "string_agg"),
    *("first", "first_value", "last", "last_value", "any_value", "nth_value"),
    *("max_by", "min_by", "mode"),
    *("percentile_approx", "approx_percentile", "histogram_numeric"),
    *("regr_slope", "regr_intercept", "regr_r2", "regr_sxx", "regr_sxy", "regr_syy"),
    *("regr_avgx", "regr_avgy"),
    *SKETCHES_OF_ORDER,
})  # fmt: skip
# the result is the same in any order: sums of integers and decimals are exact, sketches are merged by maximum
SETTLED = frozenset({
    *("count", "count_if", "regr_count", "min", "max", "median", "percentile", "percentile_cont"),
    *("percentile_disc", "approx_count_distinct", "hll_sketch_agg", "hll_union_agg"),
    *("bit_and", "bit_or", "bit_xor", "bool_and", "bool_or", "every", "some", "any"),
    *("theta_sketch_agg", "theta_union_agg", "theta_intersection_agg", "count_min_sketch"),
    *("bitmap_construct_agg", "bitmap_and_agg", "bitmap_or_agg", "grouping", "grouping_id"),
})  # fmt: skip
