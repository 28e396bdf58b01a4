// Package registry owns how registries of images are reached: certificates, hosts.toml,
// docker's credentials, and what tags they have. Options and the name of a host come in;
// containerd's resolver, and what to say of a registry that refused, go out.
package registry
