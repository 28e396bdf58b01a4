// Package sdnotify reports the status of a service to systemd: that it is ready, reloads
// its configuration, is alive, and stops. It owns the form of these messages. The address
// of a socket comes in, datagrams go out. Without a socket it sends nothing.
package sdnotify
