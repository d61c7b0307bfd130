def (nullName, classPath) = evaluate(new File(basedir, '../../../src/it/verify.groovy'))
assert nullName == 'java.lang.NullPointerException: name'
assert classPath.split(File.pathSeparator).collect { new File(it).name - ~/-\d.*/ } == ['classes', 'plant-domain', 'jspecify']
