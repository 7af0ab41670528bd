"""Static checks of models: SQL that can never give what a rebuild gives is refused before it runs."""
