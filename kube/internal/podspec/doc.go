// Package podspec writes the Pods of a cluster: from an invocation's image, plugs and settings, and the block of
// the host, it makes one Pod, or reports what a Pod cannot have. It also compares the Pod that the API server
// returns with the one that was sent. Nothing secret is in a Pod: values, arguments and requests go by exec.
package podspec
