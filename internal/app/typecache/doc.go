// Package typecache holds configs to the schemas that the images of their types gave
// when they were last run, so that nothing has to run now. A manifest comes in; out go
// what is wrong with its configs, and which types nothing is known of.
package typecache
