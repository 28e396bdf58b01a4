// Package propose owns the state that is proposed to a provider: the config, and where
// it says nothing what was there. In come a schema, the prior state and the config.
package propose
