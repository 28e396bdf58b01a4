module "a" { source = "./nowhere" }
output "o" { value = module.a.x }
# error 1:23 not there, and nothing more
