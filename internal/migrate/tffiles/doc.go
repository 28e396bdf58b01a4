// Package tffiles reads files of Terraform: the text of a configuration in JSON syntax comes in, and the same in HCL goes out;
// a state file comes in, and its resources go out.
package tffiles
