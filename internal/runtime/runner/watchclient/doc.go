// Package watchclient runs the programs that report changes to resources. A runner.Spec
// of typeclient comes in for each resource, with a function for its events; events go
// out, and at the end the reason why there are no more. If a type has a worker, one
// process watches all resources with the same image, plugs and settings; otherwise each
// resource has a process of its own. The caller restarts watches, not this package.
package watchclient
