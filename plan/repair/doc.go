// Package repair says which steps of a plan only bring back what was recorded: what
// may be done when nobody has approved more than that. A step and its entry come
// in, a verdict goes out.
package repair
