// Package observe queries an object for its state. It takes a step, its entry and what is known
// of the resources around it. It returns the input of the query, the answer, the values of
// the answer that must not be shown, and the change that follows. It also describes a
// resource as its dependants see it: their expressions and their images.
package observe
