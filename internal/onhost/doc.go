// Package onhost is what runs on a host: the agent, which runs images there for one client; the
// process that undoes guarded actions; and the removal of images that nobody needs. Its program, deployster-host,
// is also the containerd and the shim there, and is what package ssh installs: it has nothing of the client, so that
// little is sent. Arguments and the environment come in; a process that serves its client goes out.
package onhost
