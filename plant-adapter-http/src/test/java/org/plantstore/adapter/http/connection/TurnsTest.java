package org.plantstore.adapter.http.connection;

import static java.util.concurrent.TimeUnit.SECONDS;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.EventLoop;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.util.concurrent.DefaultEventExecutor;
import io.netty.util.concurrent.EventExecutor;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

class TurnsTest {

  @Test
  void what_waits_lets_everything_else_pass_in_between() throws InterruptedException {
    List<String> done = new CopyOnWriteArrayList<>();
    CountDownLatch last = new CountDownLatch(3);
    EventExecutor loop = new DefaultEventExecutor();
    try {
      loop.execute(() -> {
        for (String turn : List.of("first", "second", "third")) {
          Turns.await(
              loop,
              () -> {
                done.add(turn);
                loop.execute(() -> done.add("after " + turn));
                last.countDown();
              });
        }
        loop.execute(() -> done.add("other"));
      });
      last.await();

      List<String> soFar = List.copyOf(done);
      List<String> beforeTheSecond = soFar.subList(0, soFar.indexOf("second"));
      assertEquals(Set.of("first", "other", "after first"), Set.copyOf(beforeTheSecond));
    } finally {
      assertTrue(loop.shutdownGracefully(0, 10, SECONDS).await(10, SECONDS));
    }
  }

  @Test
  void sockets_do_not_wait_for_the_last_turn() throws Exception {
    EventLoopGroup group = new MultiThreadIoEventLoopGroup(1, NioIoHandler.newFactory());
    EventLoop loop = group.next();
    AtomicInteger turns = new AtomicInteger();
    CompletableFuture<Integer> accepted = new CompletableFuture<>();
    try {
      Channel server =
          new ServerBootstrap()
              .group(group)
              .channel(NioServerSocketChannel.class)
              .childHandler(
                  new ChannelInboundHandlerAdapter() {
                    @Override
                    public void handlerAdded(ChannelHandlerContext context) {
                      accepted.complete(turns.get());
                    }
                  })
              .bind(0)
              .sync()
              .channel();
      int port = ((InetSocketAddress) server.localAddress()).getPort();
      CompletableFuture<Socket> client = new CompletableFuture<>();
      loop.execute(() -> {
        client.completeAsync(() -> connect(port), Runnable::run);
        takeTurns(loop, turns, accepted);
      });

      int turnsBefore = accepted.get(20, SECONDS);
      client.join().close();
      assertTrue(turnsBefore < 100, () -> turnsBefore + " turns before the connection");
    } finally {
      assertTrue(group.shutdownGracefully(0, 10, SECONDS).await(10, SECONDS));
    }
  }

  private static void takeTurns(
      EventExecutor loop, AtomicInteger turns, CompletableFuture<?> accepted) {
    turns.incrementAndGet();
    if (!accepted.isDone()) {
      Turns.await(loop, () -> takeTurns(loop, turns, accepted));
    }
  }

  private static Socket connect(int port) {
    try {
      return new Socket("localhost", port);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
