module "a" { source = "/etc" }
# error 1:23 absolute
