"""Owned children for asyncio: streams to await, and an end that comes with a cancelled task."""

import asyncio
import functools
import os
from typing import IO, Any, Optional, Sequence, Tuple, Union

from .child import Owned
from .launch import Text
from .owner import Owner


class AsyncOwned:
    """An owned child whose pipes are asyncio's. Leaving an ``async with`` block, by a cancellation too,
    ends the child, its group, and what of it has left the group."""

    def __init__(self, child: Owned) -> None:
        #: The same child, to wait for without asyncio.
        self.child = child
        self.stdin: Optional[asyncio.StreamWriter] = None
        self.stdout: Optional[asyncio.StreamReader] = None
        self.stderr: Optional[asyncio.StreamReader] = None
        self._transports: "list[asyncio.BaseTransport]" = []

    @property
    def pid(self) -> int:
        """The child's process, which leads the group of the same number."""
        return self.child.pid

    @property
    def pgid(self) -> int:
        """The child's process group."""
        return self.child.pgid

    @property
    def returncode(self) -> Optional[int]:
        """Its status if it has ended, as `Owned.poll`."""
        return self.child.poll()

    async def wait(self) -> int:
        """Waits until it has ended. A wait that is cancelled leaves it running, as asyncio's own does."""
        while True:
            status = self.child.poll()
            if status is not None:
                return status
            await self._ended()

    async def _ended(self) -> None:
        handle = self.child.pidfd()
        if handle is None:
            await asyncio.sleep(0.02)
            return
        loop = asyncio.get_running_loop()
        ended = loop.create_future()
        loop.add_reader(handle, lambda: ended.done() or ended.set_result(None))
        try:
            await ended
        finally:
            loop.remove_reader(handle)
            os.close(handle)

    async def communicate(self, input: Optional[bytes] = None) -> Tuple[Optional[bytes], Optional[bytes]]:
        """Writes ``input``, reads all output, waits."""
        _, out, err, _ = await asyncio.gather(
            self._feed(input), _all_of(self.stdout), _all_of(self.stderr), self.wait()
        )
        return out, err

    async def _feed(self, data: Optional[bytes]) -> None:
        if self.stdin:
            try:
                self.stdin.write(data or b"")
                await self.stdin.drain()
            except (BrokenPipeError, ConnectionResetError):
                pass  # It does not read, as it may.
            self.stdin.close()

    def send_signal(self, number: int) -> None:
        """As `Owned.send_signal`."""
        self.child.send_signal(number)

    def terminate(self) -> None:
        """As `Owned.terminate`."""
        self.child.terminate()

    def kill(self) -> None:
        """As `Owned.kill`."""
        self.child.kill()

    async def stop(self, grace: Optional[float] = None) -> int:
        """As `Owned.stop`. It is carried to its end also when the task that waits for it is cancelled."""
        loop = asyncio.get_running_loop()
        return await asyncio.shield(loop.run_in_executor(None, self.child.stop, grace))

    async def __aenter__(self) -> "AsyncOwned":
        return self

    async def __aexit__(self, *_: Any) -> None:
        for transport in self._transports:
            transport.close()
        loop = asyncio.get_running_loop()
        await asyncio.shield(loop.run_in_executor(None, self.child.leave))

    async def _connect(self, limit: int) -> None:
        loop = asyncio.get_running_loop()
        for name in ("stdin", "stdout", "stderr"):
            pipe: Optional[IO[Any]] = getattr(self.child, name)
            if pipe is None:
                continue
            reader = asyncio.StreamReader(limit=limit, loop=loop)
            protocol = asyncio.StreamReaderProtocol(reader, loop=loop)
            if name == "stdin":
                transport, _ = await loop.connect_write_pipe(lambda: protocol, pipe)
                self.stdin = asyncio.StreamWriter(transport, protocol, reader, loop)
            else:
                transport, _ = await loop.connect_read_pipe(lambda: protocol, pipe)
                setattr(self, name, reader)
            self._transports.append(transport)


async def _all_of(reader: Optional[asyncio.StreamReader]) -> Optional[bytes]:
    return await reader.read() if reader else None


async def spawn_owned_async(
    argv: Union[Text, Sequence[Text]],
    purpose: str = "",
    *,
    owner: Optional[Owner] = None,
    limit: int = 2**16,
    **options: Any,
) -> AsyncOwned:
    """Starts an owned child whose pipes are asyncio's streams of bytes, with a buffer of ``limit`` bytes.

    The other words are those of `Owner.spawn_owned`, without ``text``, ``encoding`` and ``errors``. If
    the task is cancelled meanwhile, the child is ended.
    """
    if options.keys() & {"text", "encoding", "errors"}:
        raise ValueError("asyncio's streams are of bytes: text, encoding and errors cannot be said here")
    from . import default

    spawn = functools.partial((owner or default).spawn_owned, argv, purpose, **options)
    started = asyncio.get_running_loop().run_in_executor(None, spawn)
    try:
        child = AsyncOwned(await asyncio.shield(started))
    except asyncio.CancelledError:
        started.add_done_callback(_stop_late)
        raise
    try:
        await child._connect(limit)
    except BaseException:
        child.child.__exit__()
        raise
    return child


def _stop_late(started: "asyncio.Future[Owned]") -> None:
    if not started.cancelled() and started.exception() is None:
        started.get_loop().run_in_executor(None, started.result().__exit__)
