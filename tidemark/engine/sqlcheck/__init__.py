"""Static checks of models: refuse SQL whose result cannot equal a rebuild, before it runs."""
