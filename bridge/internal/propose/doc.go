// Package propose computes the proposed new state for a provider: the config, completed
// by the prior state. A schema, the prior state and the config come in.
package propose
