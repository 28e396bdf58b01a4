module "a" { source = "./" }
# error 1:23 itself
