// Package watchclient keeps the programs that tell of changes to resources. A
// runner.Spec of typeclient comes in for each resource, with where to tell;
// events go out, and in the end why there are no more. What has a worker is
// watched by one process for all with the same image, plugs and settings, and
// else by a process of its own. It starts nothing again: its caller does.
package watchclient
