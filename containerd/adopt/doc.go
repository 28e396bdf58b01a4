// Package adopt takes over actions whose client has given them up or has died: the ID of
// an action comes in, its output and how it ended go out. It collects a container that no
// living client supervises.
package adopt
