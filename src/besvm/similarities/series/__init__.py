"""Similarities of time series: warped, edited, shifted, or time point by time point."""

from besvm.similarities.series.edited import EDR, ERP, LCSS, MSM, TWE
from besvm.similarities.series.sbd import SBD, SeriesEuclidean
from besvm.similarities.series.warped import DDTW, DTW, WDTW

__all__ = ["DDTW", "DTW", "EDR", "ERP", "LCSS", "MSM", "SBD", "TWE", "WDTW", "SeriesEuclidean"]
