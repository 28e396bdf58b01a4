// Package typecache checks configs against the schemas that the images of their types
// gave when they were last run, so that nothing has to run now. A manifest comes in; the
// errors of its configs, and the types whose schema is unknown, go out.
package typecache
