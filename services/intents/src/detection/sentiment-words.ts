/** The words by which feelings of customers are found, folded; `*` stands for any ending. */
interface SentimentWords {
  positive: string;
  negative: string;
  /** Polite words: they add to a feeling, but are none by themselves. */
  thanks: string;
  /** They turn the feeling of the next words round. */
  negations: string;
  /** Expressions that say nothing, whatever their words: formulas of politeness. */
  formulas: readonly string[];
}

const english: SentimentWords = {
  positive: `amazing* awesome brilliant* delight* ecstatic excellent* fantastic* fabulous* friendly glad great happy
    happily impressive impressed love loved lovely nice nicely outstanding perfect* pleasant* pleased polite*
    satisfied splendid* superb* terrific thrilled wonderful* congratulat* courteous* flawless* praise*
    competent* enjoy*`,
  negative: `abysmal* angry angrily annoy* appall* atrocious* awful* cheat* complain* complaint* disappoint* disaster*
    disgrace* disgust* dissatisf* dreadful* embarrass* enraged frustrat* furious* horrible* horribl* horrif*
    incompeten* inexcusabl* infuriat* insult* intolerabl* joke lied mislead* mess nightmare* outrag* pathetic*
    poor* ridiculous* rude* scam* scandal* shame* shock* terrible terribl* unacceptabl* unbelievabl* unfair*
    unfriendly unhappy unprofessional* unsatisf* upset* useless* waste* worst worse lousy hate* ignored vain
    ripped`,
  thanks: 'appreciat* grateful* thank* helpful*',
  negations:
    'not no never dont didnt doesnt isnt wasnt arent cant cannot couldnt wont without hardly nothing neither nor',
  formulas: [
    'thanks in advance',
    'thank you in advance',
    'many thanks in advance',
    'thank you for your time',
    'thank you for your attention',
    'thank you for your assistance',
    'thank you for your support',
    'thank you for your help',
    'thanking you',
    'thank you for your prompt',
    'best regards',
    'kind regards',
    'best wishes',
    'kindest regards',
    'would appreciate',
    'appreciate your',
    'thank you for considering',
    'would be great',
    'be grateful',
    'be happy to',
    'no problem',
    'would love',
    'best practices',
    'best practice',
    'best way',
    'kind of',
    'be glad',
    'would be helpful',
    'i would be pleased',
    'kindly',
  ],
};

const german: SentimentWords = {
  positive: `angenehm* ausgezeichnet* begeister* bestens brillant* einwandfrei* erfreu* exzellent* fantastisch*
    freundlich* froh gefreut genial* gluckwunsch* glucklich* grossartig* hervorragend* hilfsbereit* klasse
    kompetent* lob lobe loben lobenswert* nett nette netten netter perfekt* prima spitze super tadellos* toll
    tolle toller tolles vorbildlich* wunderbar* wundervoll* zufrieden* zuvorkommend* empfehlenswert*
    phantastisch* hocherfreut`,
  negative: `abzocke* abgezockt* aerger* arger* argern beleidig* beschwer* beschwerde* betrog* betrug* blamabel* dreist*
    emport* emporend* entsetz* enttausch* erbarmlich* frech* frust* furchtbar* genervt* nervt grauenhaft*
    grausam* inkompetent* inakzeptabel* katastroph* lacherlich* mangelhaft* mies* misera* nervig* peinlich*
    sauer saumassig* schande* schlimm* schlecht* schrecklich* skandal* stinksauer unakzeptabel* unertraglich*
    unfahig* unfreundlich* unglaublich* unhoflich* unmoglich unmogliche* unprofessionell* unseri* unverschamt*
    unzufrieden* unzumutbar* verarger* verarscht* vergeblich* verschleppt* wertlos* wut* wutend* zumutung*
    reicht scheiss* schlamp* unzuverlassig* ignoriert* untragbar*`,
  thanks: 'bedank* dank danke dankbar* freu* hilfreich*',
  negations: 'nicht kein keine keinen keiner keinem keines nie niemals ohne nichts weder kaum',
  formulas: [
    'vielen dank im voraus',
    'danke im voraus',
    'besten dank im voraus',
    'herzlichen dank im voraus',
    'dank im voraus',
    'mit freundlichen grussen',
    'freundliche grusse',
    'viele liebe grusse',
    'liebe grusse',
    'herzliche grusse',
    'mit freundlichem gruss',
    'freundlichen gruss',
    'freue mich auf',
    'freuen uns auf',
    'wurde mich freuen',
    'wurde ich mich freuen',
    'vielen dank fur ihre unterstutzung',
    'vielen dank fur ihre hilfe',
    'danke fur ihre hilfe',
    'vielen dank fur ihre zeit',
    'vielen dank fur ihr verstandnis',
    'vielen dank fur ihre schnelle',
    'ware ich dankbar',
    'waren wir dankbar',
    'ware dankbar',
    'bin ich ihnen dankbar',
    'ware toll',
    'vielen dank fur ihre bemuhungen',
    'bedanke mich im voraus',
    'freundlich bitten',
    'sehr dankbar wenn',
  ],
};

const spanish: SentimentWords = {
  positive: `amable* encanta encantad* encanto estupend* excelente* excelent* fabulos* fantastic* feliz* felicidades
    felicitaciones felicito genial* maravill* magnific* perfect* contento contenta contentos contentas
    satisfech* recomiendo simpatic* brillante* impecable* increible competente* buen bueno buena`,
  negative: `absurd* asco avergonz* decepcion* desagradable* desastr* desesper* engan* enfad* enojad* estafa* frustra*
    furios* grosero* grosera* harto harta horrible* horror* inaceptable* inadmisible* incompeten* indigna*
    indignante* inepto* injust* insatisfech* intolerable* lamentable* malisim* maleducad* mala malo molest*
    nefast* patetic* peor* pesim* queja* quejarme reclamacion* ridicul* robo terrible* verguenza* vergonz*
    inutil`,
  thanks: 'agradecid* agradezco gracias amablemente',
  negations: 'no nunca jamas sin ningun ninguna ninguno tampoco nada',
  formulas: [
    'gracias de antemano',
    'muchas gracias de antemano',
    'gracias por su tiempo',
    'gracias por su atencion',
    'gracias por su ayuda de antemano',
    'agradezco de antemano',
    'agradeceria',
    'agradezco su',
    'agradezco cualquier',
    'gracias por su pronta',
    'buen dia',
    'buenos dias',
    'buenas tardes',
    'lo mejor posible',
    'gracias por su comprension',
    'mejor manera',
    'mejores practicas',
    'un cordial saludo',
  ],
};

const portuguese: SentimentWords = {
  positive: `adorei adoro adorou agradavel amavel* amaveis competente* content* encantad* espetacular* excelente*
    excelent* fantastic* feliz* genial* gentil* gostei impecavel* incrivel* maravilh* magnific* otimo otima
    otimos otimas parabens perfeit* prestativ* recomendo satisfeit* simpatic* elogi* bom boa`,
  negative: `absurd* chatead* decepcion* desagradavel* desapont* desastr* descaso desespera* desilud* desrespeit*
    enganad* engano frustra* furios* golpe grosseir* horrivel* horrorosa* inaceitavel* inadmissivel* incompeten*
    indignad* insatisfeit* intoleravel* irritad* lamentavel* mal mau ma maleducad* educada nojo palhacada
    pessim* pior* raiva reclamacao* reclamar ridicul* roubo terrivel* vergonh* inutil farto farta`,
  thanks: 'agradeco agradecid* obrigad* gentilmente',
  negations: 'nao nunca jamais sem nenhum nenhuma tampouco nada nem',
  formulas: [
    'obrigado desde ja',
    'obrigada desde ja',
    'desde ja agradeco',
    'agradeco desde ja',
    'agradeco antecipadamente',
    'obrigado antecipadamente',
    'obrigado pela atencao',
    'obrigada pela atencao',
    'agradeco a atencao',
    'bom dia',
    'boa tarde',
    'boa noite',
    'agradeco a sua',
    'agradeco sua',
    'agradeceria',
    'melhor forma',
    'melhores cumprimentos',
    'melhores praticas',
    'obrigado pelo seu tempo',
    'obrigado pelo apoio',
    'obrigado pela ajuda antecipada',
  ],
};

const french: SentimentWords = {
  positive: `admirable* adore adorable* agreable* aimable* bravo chaleureu* competent* content contente contents
    contentes enchant* excellent* fantastique* felicit* formidable* genial* geniale* gentil* heureu* impeccable*
    incroyable* magnifique* merveill* parfait* ravi ravie ravis recommande* satisfait* serviable* super superbe*
    sympa*`,
  negative: `abus* agac* aberrant* arnaqu* catastroph* colere decevan* decu decue decus degout* deplorable* desagreable*
    desastr* desesper* enerv* epouvantable* escroqu* exasper* facheu* fache* furieu* frustr* honte* honteu*
    horrible* impoli* inacceptable* inadmissible* incompeten* indign* injust* inqualifiable* insatisfait*
    insupportable* intolerable* irrespect* lamentable* malhonn* marre mauvais* mecontent* mediocre* nul nulle
    pire* plainte plaindre ras ridicule* scandal* terrible* vol voleur* inutile*`,
  thanks: 'merci mercis remerci* apprecie*',
  negations: 'ne n pas jamais sans aucun aucune plus rien ni',
  formulas: [
    'merci d avance',
    'merci par avance',
    'vous remercie par avance',
    'vous remercie d avance',
    'je vous remercie de',
    'je vous remercie pour votre',
    'en vous remerciant',
    'merci de me',
    'merci de nous',
    'merci de bien',
    'merci de votre',
    'merci pour votre attention',
    'merci pour votre temps',
    'merci pour votre aide par avance',
    'apprecierais',
    'agreer',
    'meilleures salutations',
    'meilleures pratiques',
    'salutations distinguees',
    'n hesitez pas',
  ],
};

/** By language, as ISO 639-1 codes. */
export const sentimentWords: ReadonlyMap<string, SentimentWords> = new Map([
  ['en', english],
  ['de', german],
  ['es', spanish],
  ['pt', portuguese],
  ['fr', french],
]);
