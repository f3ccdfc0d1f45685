from django.http import HttpResponse
from django.urls import path


def broken(request):
    raise RuntimeError("this page is broken")


urlpatterns = [path("fine/", lambda request: HttpResponse("fine")), path("broken/", broken)]
