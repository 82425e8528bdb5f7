#pragma once

#if defined(__linux__)
#include <errno.h>
#include <stdint.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>

// epoll's flags are enumerators that import under three types; here they are fixed once.

/// Level-triggered: reported for as long as there is something to read.
static inline int ferry_epoll_watch_input(int epoll, int descriptor) {
  struct epoll_event event = {.events = EPOLLIN, .data = {.fd = descriptor}};
  return epoll_ctl(epoll, EPOLL_CTL_ADD, descriptor, &event);
}

/// Edge-triggered: reported once, when the other end has closed.
static inline int ferry_epoll_watch_hangup(int epoll, int descriptor) {
  struct epoll_event event = {.events = EPOLLRDHUP | EPOLLET, .data = {.fd = descriptor}};
  return epoll_ctl(epoll, EPOLL_CTL_ADD, descriptor, &event);
}

static inline int ferry_epoll_forget(int epoll, int descriptor) {
  struct epoll_event event = {0};
  return epoll_ctl(epoll, EPOLL_CTL_DEL, descriptor, &event);
}

/// Writes the descriptors that have something to say; returns how many, 0 when a signal came.
static inline int ferry_epoll_wait(int epoll, int *descriptors, int capacity, int milliseconds) {
  struct epoll_event events[256];
  if (capacity > 256) capacity = 256;
  int count = epoll_wait(epoll, events, capacity, milliseconds);
  if (count < 0) return errno == EINTR ? 0 : -1;
  for (int i = 0; i < count; i++) descriptors[i] = events[i].data.fd;
  return count;
}
#endif
