// Package validation tests how a type judges configs by its validate_action. A config that is valid comes in; what is wrong with the
// answers goes out.
package validation
