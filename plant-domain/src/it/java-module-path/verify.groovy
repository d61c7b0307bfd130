assert evaluate(new File(basedir, '../../../src/it/verify.groovy')) == [
    'java.lang.NullPointerException: name',
    '',
    '[com.example.garden, java.base, org.plantstore.domain]']
