// Package check finds the problems of a root as `deployster validate` finds them, in texts that may not be saved, and
// what the images of its types have reported of their configs and states. A directory and the texts of an editor come
// in; problems with their places, and schemas by type, go out. It runs no image.
package check
