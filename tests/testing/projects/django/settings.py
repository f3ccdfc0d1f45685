SECRET_KEY = "only for tests"
INSTALLED_APPS = ["django.contrib.auth", "django.contrib.contenttypes", "shop"]
DATABASES = {"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": "shop.sqlite3"}}
DEFAULT_AUTO_FIELD = "django.db.models.AutoField"
USE_TZ = True
ROOT_URLCONF = "shop.urls"
