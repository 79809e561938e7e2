"""A mail server on loopback for tests, on aiosmtpd: writes each mail that it accepts to a file as JSON.

Arguments: a folder, and a port or 0. Prints the port. A file `busy` in the folder makes it refuse mails for now; `slow` makes it wait
after it has stored a mail, before it says so. It refuses the recipient `nobody@…` for ever.
"""

import asyncio
import email
import email.policy
import json
import os
import sys

from aiosmtpd.smtp import SMTP

folder, port = sys.argv[1], int(sys.argv[2])
n_stored = 0


def is_set(name):
    return os.path.exists(os.path.join(folder, name))


class Handler:
    async def handle_RCPT(self, server, session, envelope, address, options):
        if is_set("busy"):
            return "451 4.3.2 try again later"
        if address.startswith("nobody@"):
            return "550 5.1.1 there is no such user"
        envelope.rcpt_tos.append(address)
        return "250 OK"

    async def handle_DATA(self, server, session, envelope):
        global n_stored
        message = email.message_from_bytes(envelope.content, policy=email.policy.default)
        part = lambda kind: message.get_body((kind,)).get_content()
        mail = {
            "recipients": envelope.rcpt_tos,
            "headers": [[name, str(value)] for name, value in message.items()],
            "text": part("plain"),
            "html": part("html"),
        }
        n_stored += 1
        path = os.path.join(folder, f"{os.getpid()}-{n_stored:06}.json")
        with open(path + ".new", "w") as file:
            json.dump(mail, file)
        os.rename(path + ".new", path)
        if is_set("slow"):
            await asyncio.sleep(0.2)
        return "250 stored"


async def main():
    loop = asyncio.get_running_loop()
    server = await loop.create_server(lambda: SMTP(Handler(), hostname="mail.example.org"), "127.0.0.1", port)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


asyncio.run(main())
