// Package sdnotify tells systemd how a service is: that it is ready, reads its
// configuration anew, lives, and ends. It owns the form of these messages. The address
// of a socket comes in, datagrams go out. Without a socket nobody is told.
package sdnotify
