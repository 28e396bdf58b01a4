// Package tffiles reads files of Terraform: the text of a configuration in JSON syntax comes in, and the same in HCL goes out;
// a state file comes in, and its resources go out. It knows which files of values Terraform reads, and what `terraform init`
// leaves: versions of providers, fetched modules and the selected workspace.
package tffiles
