"""`tidemark prove --manifest`: incremental models of stock dbt on random histories, as dbt would run them."""
