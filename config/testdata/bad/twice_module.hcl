module "a" { source = "./x" }
module "a" { source = "./x" }
# error 2:1 twice
# error 1:23 not there
