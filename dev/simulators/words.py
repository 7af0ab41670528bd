"""Names and words of the simulated shop, with apostrophes, quotes, commas and several scripts."""

FIRST_NAMES = (
    "Amélie",
    "Bao",
    "Chidi",
    "Dörte",
    "Elena",
    "Fatima",
    "Grzegorz",
    "Hiro",
    "Inés",
    "John",
    "Катя",
    "Zoë",
)
LAST_NAMES = (
    "O'Brien",
    "D'Angelo",
    "García",
    "Nguyễn",
    "Østergård",
    "Smith",
    "Smith, Jr.",
    "Łukasik",
    "Şahin",
    "田中",
)
CENTS = {"Café mug": 950, "Sailor's cap": 2400, 'Tea tin 5"': 1275, "Lamp, oak": 7999, "Notebook": 420}
CENTS |= {"Rain jacket": 11900, "Socks (3 pairs)": 1499, "Gift card": 5000}
PRODUCTS = tuple(CENTS)
WAREHOUSES = ("Hamburg", "Łódź", "Reno")
CHANNELS = ("app", "phone", "web", "web")
