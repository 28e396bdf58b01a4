// Package podstatus reads what the status of a Pod and the events about it mean: why the Pod does not run
// yet, whether waiting can mend that, and how its container and each action in it ended. Only the end of the
// container is the end of a program: neither the Pod's phase nor a missing Pod is.
package podstatus
