#!/usr/bin/env python3
"""A service of REST by Django REST framework as a business system: Scripts/check-rest-services.

  rest-django.py <port> <database>   at 127.0.0.1, or at a free port for 0; prints "ready <port>" and
                                     serves until it is ended

As the framework makes it from a model: pages by number, refusals by field, no ETags. A ticket has a
subject that no other has. GET /log tells each change that was done, one a line; POST /others/<id>/<note>
is a change by somebody else. The environment variable DJANGO_FAULTS is a number: about one of so many
changes is done and answered with 502 and a page.
"""
import os
import sys
import threading
from wsgiref.simple_server import WSGIRequestHandler, WSGIServer, make_server
import socketserver

import django
from django.conf import settings

settings.configure(
    DEBUG=False, SECRET_KEY="of a check", ALLOWED_HOSTS=["*"], ROOT_URLCONF=__name__, USE_TZ=True,
    INSTALLED_APPS=["django.contrib.contenttypes", "django.contrib.auth", "rest_framework"],
    DATABASES={"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": sys.argv[2],
                           "OPTIONS": {"timeout": 60}}},
    REST_FRAMEWORK={"DEFAULT_PAGINATION_CLASS": "rest_framework.pagination.PageNumberPagination",
                    "PAGE_SIZE": 7, "DEFAULT_AUTHENTICATION_CLASSES": [],
                    "DEFAULT_PERMISSION_CLASSES": [], "UNAUTHENTICATED_USER": None,
                    "DEFAULT_RENDERER_CLASSES": ["rest_framework.renderers.JSONRenderer"]})
django.setup()

from django.core.wsgi import get_wsgi_application
from django.db import connection, models
from django.http import HttpResponse
from django.urls import include, path
from django.views.decorators.csrf import csrf_exempt
from rest_framework import routers, serializers, viewsets

log = []
lock = threading.Lock()
faults = int(os.environ.get("DJANGO_FAULTS", "0"))
changes = [0]


class Ticket(models.Model):
    subject = models.CharField(max_length=60, unique=True)
    note = models.CharField(max_length=200, blank=True, default="")
    priority = models.PositiveSmallIntegerField(default=1)
    due = models.DateField(null=True)

    class Meta:
        app_label = "tickets"
        ordering = ["id"]


class TicketSerializer(serializers.ModelSerializer):
    class Meta:
        model = Ticket
        fields = ["id", "subject", "note", "priority", "due"]


class Tickets(viewsets.ModelViewSet):
    serializer_class = TicketSerializer

    def get_queryset(self):
        subject = self.request.query_params.get("subject")
        return Ticket.objects.filter(subject=subject) if subject else Ticket.objects.all()

    def perform_create(self, serializer):
        log.append("POST %d" % serializer.save().id)

    def perform_update(self, serializer):
        log.append("%s %d" % (self.request.method, serializer.save().id))

    def perform_destroy(self, instance):
        log.append("DELETE %d" % instance.id)
        instance.delete()


router = routers.DefaultRouter()
router.register("tickets", Tickets, basename="ticket")


@csrf_exempt
def others(_, key, note):
    Ticket.objects.filter(id=key).update(note=note)
    return HttpResponse("done")


urlpatterns = [
    path("api/", include(router.urls)),
    path("log", lambda _: HttpResponse("\n".join(log), content_type="text/plain")),
    path("others/<int:key>/<str:note>", others),
]


class Server(socketserver.ThreadingMixIn, WSGIServer):
    daemon_threads = True
    request_queue_size = 64


class Quiet(WSGIRequestHandler):
    def log_message(self, *_):
        pass


def main():
    with connection.schema_editor() as editor:
        if Ticket._meta.db_table not in connection.introspection.table_names():
            editor.create_model(Ticket)
            Ticket.objects.bulk_create(
                [Ticket(subject="ticket %d" % number, due="2026-12-%02d" % number) for number in range(1, 21)])
    inner = get_wsgi_application()

    def application(environment, start):
        if environment["REQUEST_METHOD"] == "GET" or environment["PATH_INFO"].startswith("/others"):
            return inner(environment, start)
        with lock:
            answer = b"".join(inner(environment, start if not faults else remember))
            changes[0] += 1
            if faults and changes[0] % faults == 0:
                start("502 Bad Gateway", [("Content-Type", "text/html")])
                return [b"<html><h1>Bad Gateway</h1></html>"]
        if faults:
            start(*remembered[0])
        return [answer]

    remembered = [None]

    def remember(status, headers, *_):
        remembered[0] = (status, headers)

    server = make_server("127.0.0.1", int(sys.argv[1]), application, Server, Quiet)
    print("ready", server.server_port, flush=True)
    server.serve_forever()


main()
