// Package identity finds which recorded object each resource means. Facts are what a plan
// knows of that so far; Match makes a Matched of them, with which resources are decided. A
// decision may learn another fact: then all is matched again.
package identity
