variable "enabled" { default = true }
# error 1:1 Reserved
