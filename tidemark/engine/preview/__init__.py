"""What the next run would change because the project has changed: `tidemark plan`.

- `changed.py`: the models and seeds that are not as their tables were built, and the models that read them;
- `rows.py`: the rows in which their tables would differ, at the versions of the sources that they have read;
- `seeds.py`: the rows of a seed's file;
- `markdown.py`: both as a text for a pull request.
"""
