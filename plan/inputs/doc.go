// Package inputs finds which inputs of a type have changed since its resource was last
// VALID. It takes what the type is given now and the entry of the resource, and decides
// whether a difference is drift: only where no input has changed.
package inputs
